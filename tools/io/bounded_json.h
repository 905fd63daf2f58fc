// JSON of others as a tree. A tree takes 16 to 80 bytes for one of the text, so its size is bounded
// while it is read. nlohmann's parser with a callback would do that, but it looks through a list
// after each object in it, and an ordered object through all its names for each, which takes a
// minute for a megabyte; this one takes the same time for every value.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/graph/text.h"

namespace placeto {

// What the parser calls for each value; each returns whether to go on.
template <class Json>
class BoundedTree {
 public:
  explicit BoundedTree(size_t most_values) : most_(most_values), left_(most_values) {}

  Json take() { return std::move(root_); }
  // Why it did not go on.
  const std::string& why() const { return why_; }

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool value) { return add(value) != nullptr; }
  bool number_integer(typename Json::number_integer_t value) { return add(value) != nullptr; }
  bool number_unsigned(typename Json::number_unsigned_t value) { return add(value) != nullptr; }
  bool number_float(typename Json::number_float_t value, const std::string&) {
    return add(value) != nullptr;
  }
  bool string(std::string& value) { return add(std::move(value)) != nullptr; }
  bool binary(typename Json::binary_t&) { return false; }  // JSON has none
  bool start_object(size_t) { return open(Json::value_t::object); }
  bool start_array(size_t) { return open(Json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    name_ = std::move(name);
    return spend();
  }
  template <class Error>
  bool parse_error(size_t byte, const std::string&, const Error& error) {
    constexpr int kOutOfRange = 406;
    const std::string what =
        error.id == kOutOfRange ? "holds a number that is too large" : "is not JSON";
    return fail(what + ", at byte " + std::to_string(byte));
  }

 private:
  static constexpr size_t kMostDepth = 64;
  static constexpr bool kOrdered = std::is_same_v<Json, nlohmann::ordered_json>;

  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool spend() {
    if (left_ == 0) {
      return fail("holds more than " + std::to_string(most_) + " values, expected at most that");
    }
    --left_;
    return true;
  }

  // The value where it belongs in the tree; null if that is too large. Pointers to what is open
  // stay valid: nothing is added beside it before it is closed.
  template <class Value>
  Json* add(Value&& value) {
    if (!spend()) return nullptr;
    if (open_.empty()) return &(root_ = Json(std::forward<Value>(value)));
    Json& parent = *open_.back();
    if (parent.is_array()) {
      return &parent.template get_ref<typename Json::array_t&>().emplace_back(
          std::forward<Value>(value));
    }
    return add_field(parent.template get_ref<typename Json::object_t&>(),
                     Json(std::forward<Value>(value)));
  }
  // Null, too, for a name that is there already; an ordered object learns that when it is closed.
  template <class Object>
  Json* add_field(Object& object, Json&& value) {
    if constexpr (kOrdered) {
      return &object.emplace_back(std::move(name_), std::move(value)).second;  // past its search
    } else {
      const auto [field, is_new] = object.emplace(name_, std::move(value));
      if (!is_new) fail_for(name_);
      return is_new ? &field->second : nullptr;
    }
  }
  bool fail_for(std::string_view name) {
    return fail("gives " + in_quotes(name) + " twice in one object, expected once");
  }
  bool names_differ(const Json& object) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : object.template get_ref<const typename Json::object_t&>()) {
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() || fail_for(*twice);
  }

  // An empty list takes as much as two values.
  bool open(typename Json::value_t type) {
    if (open_.size() >= kMostDepth) {
      return fail("is nested deeper than " + std::to_string(kMostDepth) +
                  ", expected at most that");
    }
    if (!spend()) return false;
    Json* added = add(Json(type));
    if (added != nullptr) open_.push_back(added);
    return added != nullptr;
  }
  bool close() {
    const Json& closed = *open_.back();
    open_.pop_back();
    return !kOrdered || !closed.is_object() || names_differ(closed);
  }

  Json root_ = Json(Json::value_t::discarded);
  std::vector<Json*> open_;  // objects and lists that have begun, outermost first
  std::string name_;         // of the field whose value comes next
  const size_t most_;
  size_t left_;
  std::string why_;
};

// Fails with kBadInput if it is no JSON, holds more values and names of fields, is nested deeper
// than 64, or gives a field of an object twice. Objects and lists count twice.
template <class Json>
Result<Json> parse_bounded(std::string_view text, size_t most_values) {
  BoundedTree<Json> tree(most_values);
  if (!Json::sax_parse(text, &tree)) return Status::bad_input(tree.why());
  return tree.take();
}

}  // namespace placeto
