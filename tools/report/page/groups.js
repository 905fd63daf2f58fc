// Which nodes the graph view shows as one box. A box is a set of nodes; boxes of one view are
// disjoint.
//
// Up to ONE_BY_ONE nodes are shown one by one. More are grouped: the largest group is split again
// and again until there are about MOST_BOXES. A group splits by the next part of its nodes' names
// ("layer3/attention/query"), which is how people know a network; where names do not tell the nodes
// apart, by depth: nodes whose longest path from an input has about the same length. Groups depend
// on the graph alone, so several placements show in the same boxes.
const ONE_BY_ONE = 90, MOST_BOXES = 64, FEW = 8;
const SEPARATOR = /[\/.:]/;
const RANGE = " … ";  // between the first and the last name of a box

// Edges on the longest path from a node without inputs.
function nodeDepths() {
  const depth = new Int32Array(nodeCount), missing = inputs.map(list => list.length);
  const ready = [];
  missing.forEach((n, v) => { if (n === 0) ready.push(v); });
  while (ready.length) {
    const v = ready.pop();
    for (const w of consumers[v]) {
      depth[w] = Math.max(depth[w], depth[v] + 1);
      if (--missing[w] === 0) ready.push(w);
    }
  }
  return depth;
}
let depths = null, nameParts = null;
const partsOf = v => nameParts[v] || (nameParts[v] = nodes.name[v].split(SEPARATOR).filter(Boolean));

// Parts by the first component of the names after `skip` of them; null if that tells nothing apart.
function splitByName(members, skip) {
  const parts = new Map();
  for (const v of members) {
    const names = partsOf(v), key = names.length > skip + 1 ? names[skip] : "";
    if (!parts.has(key)) parts.set(key, []);
    parts.get(key).push(v);
  }
  // A few nodes without a further part (the graph's input and output) stay themselves: together
  // they would close a cycle around everything else.
  const ends = parts.get("") || [];
  if (parts.size > 1 && ends.length <= FEW) {
    parts.delete("");
    for (const v of ends) parts.set(v, [v]);
  }
  return parts;
}
// About `pieces` parts of nodes of similar depth.
function splitByDepth(members, pieces) {
  const sorted = [...members].sort((a, b) => depths[a] - depths[b] || a - b);
  const size = Math.ceil(sorted.length / pieces), parts = [];
  for (let begin = 0; begin < sorted.length;) {
    let end = Math.min(begin + size, sorted.length);
    // Nodes of one depth stay together unless that alone would be too many.
    while (end < sorted.length && end < begin + 2 * size && depths[sorted[end]] === depths[sorted[end - 1]]) ++end;
    parts.push(sorted.slice(begin, end));
    begin = end;
  }
  return parts;
}
function groupTitle(members, path) {
  if (members.length === 1) return nodes.name[members[0]];
  if (path.length) return path.join("/");
  return nodes.name[members[0]] + RANGE + nodes.name[members.at(-1)];
}
// Boxes {members, title} for the nodes; `path`: the name components they share.
function makeBoxes(all, path) {
  depths = depths || nodeDepths();
  nameParts = nameParts || [];
  const single = v => ({ members: [v], path });
  if (all.length <= ONE_BY_ONE) return finishBoxes(all.map(single));
  let boxes = [{ members: all, path, skip: path.length }];
  const largest = () => boxes.reduce((a, b) => b.members.length > a.members.length ? b : a);
  // At this size a box is small enough.
  const enough = Math.max(2, all.length / MOST_BOXES / 2);
  while (boxes.length < MOST_BOXES) {
    const box = largest();
    if (box.members.length <= enough) break;
    const room = MOST_BOXES - boxes.length + 1;
    let pieces = [];
    if (box.skip !== undefined) {
      const parts = splitByName(box.members, box.skip);
      if (parts.size <= Math.max(room, 2)) {
        pieces = [...parts].map(([key, members]) => typeof key !== "string" || key === ""
          ? { members, path: box.path, skip: undefined }
          : { members, path: [...box.path, key], skip: box.skip + 1 });
      }
    }
    if (pieces.length === 1 && pieces[0].skip !== undefined) {
      Object.assign(box, pieces[0]);
      continue;
    }
    if (pieces.length < 2) {
      const wanted = Math.min(room, Math.max(2, Math.round(box.members.length * MOST_BOXES / all.length)));
      pieces = splitByDepth(box.members, wanted)
        .map(members => ({ members, path: box.skip === 0 ? [] : box.path, skip: undefined }));
      if (pieces.length < 2) break;
    }
    boxes.splice(boxes.indexOf(box), 1, ...pieces);
  }
  return finishBoxes(boxes);
}
function finishBoxes(boxes) {
  const uses = new Map();
  for (const box of boxes) {
    box.title = groupTitle(box.members, box.path);
    if (box.members.length > 1) uses.set(box.title, (uses.get(box.title) || 0) + 1);
  }
  // Parts of one name that depth told apart get a number each, in that order.
  const seen = new Map();
  for (const box of boxes) {
    if (box.members.length === 1 || uses.get(box.title) === 1) continue;
    const n = (seen.get(box.title) || 0) + 1;
    seen.set(box.title, n);
    box.title += " (" + n + ")";
  }
  return boxes;
}
