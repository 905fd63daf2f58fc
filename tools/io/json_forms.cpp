#include "tools/io/json_forms.h"

#include <graph_generated.h>
#include <placement_generated.h>
#include <policy_generated.h>
#include <topology_generated.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "tools/io/json_scanner.h"
#include "tools/io/reflection.h"

namespace placeto {

using flatbuffers::TypeTable;

const TypeTable* root_of(FileKind kind) {
  switch (kind) {
    case FileKind::kGraph:
      return schema::GraphTypeTable();
    case FileKind::kTopology:
      return schema::TopologyTypeTable();
    case FileKind::kPlacement:
      return schema::PlacementTypeTable();
    case FileKind::kPolicy:
      return schema::PolicyTypeTable();
    case FileKind::kUnknown:
      break;
  }
  return nullptr;
}

FileKind detect_json(std::string_view text) {
  std::vector<FileKind> candidates(std::begin(kFileKinds), std::end(kFileKinds));
  JsonScanner scan(text);
  std::string name;
  if (!scan.accept('{')) return FileKind::kUnknown;
  do {
    if (scan.peek() != '"' || !scan.read_string(name).empty() || !scan.accept(':')) break;
    // '"', '{', '[', or what the value's first entry starts with, since lists of text and lists of
    // objects tell a placement's devices from a topology's.
    char first = scan.peek();
    if (first == '[') {
      JsonScanner inside = scan;
      inside.accept('[');
      first = inside.peek();
    }
    const auto lacks = [&](FileKind kind) {
      const TypeTable* root = root_of(kind);
      for (size_t field = 0; field < root->num_elems; ++field) {
        if (name != root->names[field]) continue;
        return (first == '{' || first == '"') &&
               (first == '{') != field_type(root, field).is_table();
      }
      return true;
    };
    std::vector<FileKind> left;
    std::remove_copy_if(candidates.begin(), candidates.end(), std::back_inserter(left), lacks);
    if (!left.empty()) candidates = left;  // a field that none has tells nothing
    if (candidates.size() == 1) return candidates[0];
  } while (scan.skip_value() && scan.accept(','));
  return FileKind::kUnknown;
}

}  // namespace placeto
