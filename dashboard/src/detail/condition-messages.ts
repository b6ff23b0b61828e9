/** Conditions that repeat a message say so instead. Pure. */

interface WithMessage {
  readonly type: string;
  readonly message?: string | undefined;
}

/** Shorter ones are read faster than where they were said first. */
const minLength = 40;

/** `above`: the message at the head of the page. */
export function withEachMessageOnce<T extends WithMessage>(
  conditions: readonly T[],
  above: string,
): readonly T[] {
  const seen = new Map(above === "" ? [] : [[above, "as above"]]);
  return conditions.map((condition) => {
    const { type, message = "" } = condition;
    if (message.length < minLength) return condition;
    const before = seen.get(message);
    if (before !== undefined) return { ...condition, message: before };
    seen.set(message, `the same as ${type}`);
    return condition;
  });
}
