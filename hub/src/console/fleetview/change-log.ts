/**
 * Which entities have changed since a position, each once, in the order of their last changes. It has no values: a reader looks
 * up the current ones, so a reader that is behind gets one change for each entity, however often that has changed.
 */

export interface ChangeLog {
  /** The position of the last change; 0 before the first. */
  readonly position: number;
  changed(entity: string): void;
  /** Undefined if the log does not go back to `position`: the reader has to read everything again. */
  since(position: number): readonly string[] | undefined;
}

const defaultMaxEntries = 50_000;

export function createChangeLog(maxEntries = defaultMaxEntries): ChangeLog {
  /** The entity of each position, from `floor` + 1 on. */
  let entries: string[] = [];
  let floor = 0;
  /** The position of the last change of each entity in the log. */
  const last = new Map<string, number>();

  /** Drops the older half. */
  function shorten(): void {
    const dropped = entries.length >> 1;
    for (let index = 0; index < dropped; index += 1) {
      const entity = entries[index] ?? "";
      if (last.get(entity) === floor + index + 1) last.delete(entity);
    }
    entries = entries.slice(dropped);
    floor += dropped;
  }

  return {
    get position() {
      return floor + entries.length;
    },
    changed(entity) {
      entries.push(entity);
      last.set(entity, floor + entries.length);
      if (entries.length > maxEntries) shorten();
    },
    since(position) {
      if (position < floor || position > floor + entries.length) return undefined;
      return entries
        .slice(position - floor)
        .filter((entity, index) => last.get(entity) === position + index + 1);
    },
  };
}
