/** Runs of one task, one after another, for callers that need a run that starts after their call. */

export class NextRun {
  readonly #task: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Settles as the next run does, which starts after the one in progress; all callers until then share it. */
  run(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = this.#task();
        return this.#running;
      });
    return this.#next;
  }
}
