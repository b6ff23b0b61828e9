/**
 * Which entities have changed since a position, each once, in the order of their last changes. It has no values: a reader looks
 * up the current ones, so a reader that is behind gets one change for each entity, however often that has changed.
 */

const defaultMaxEntries = 50_000;

export class ChangeLog {
  readonly #maxEntries: number;
  /** The entity of each position, from `#floor` + 1 on. */
  #entries: string[] = [];
  #floor = 0;
  /** The position of the last change of each entity in the log. */
  readonly #last = new Map<string, number>();

  constructor(maxEntries = defaultMaxEntries) {
    this.#maxEntries = maxEntries;
  }

  /** The position of the last change; 0 before the first. */
  get position(): number {
    return this.#floor + this.#entries.length;
  }

  changed(entity: string): void {
    this.#entries.push(entity);
    this.#last.set(entity, this.position);
    if (this.#entries.length > this.#maxEntries) this.#shorten();
  }

  /** Undefined if the log does not go back to `position`: the reader has to read everything again. */
  since(position: number): readonly string[] | undefined {
    if (position < this.#floor || position > this.position) return undefined;
    return this.#entries
      .slice(position - this.#floor)
      .filter((entity, index) => this.#last.get(entity) === position + index + 1);
  }

  /** Drops the older half. */
  #shorten(): void {
    const dropped = this.#entries.length >> 1;
    for (let index = 0; index < dropped; index += 1) {
      const entity = this.#entries[index] ?? "";
      if (this.#last.get(entity) === this.#floor + index + 1) this.#last.delete(entity);
    }
    this.#entries = this.#entries.slice(dropped);
    this.#floor += dropped;
  }
}
