// Changes of the table's view, as the server sends them: docs/table.md and `changes.py` say what the parts mean.

/** Applies a change to a view and returns the new view; the old one stays as it is. */
export function changed(view, change) {
  const next = structuredClone(view);
  for (const [path, length] of Object.entries(change.cut ?? {})) found(next, path).length = length;
  for (const [path, value] of Object.entries(change.set ?? {})) {
    const keys = path.split(".");
    const last = keys.pop();
    found(next, keys.join("."))[last] = value;
  }
  for (const [path, values] of Object.entries(change.add ?? {})) found(next, path).push(...values);
  next.version = change.version;
  return next;
}

function found(view, path) {
  return path ? path.split(".").reduce((value, key) => value[key], view) : view;
}
