/** JSON pointers (RFC 6901) in plain JSON values, which are never changed in place. Pure. */

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `/metadata/labels/a~1b` names the label `a/b`; "" the whole value. */
export function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointerOf(segments: readonly (string | number)[]): string {
  return segments
    .map((segment) => `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** Undefined where there is nothing. */
export function valueAt(value: unknown, segments: readonly string[]): unknown {
  let found = value;
  for (const segment of segments) {
    if (Array.isArray(found))
      found = indexOf(segment) === undefined ? undefined : found[Number(segment)];
    else found = isFields(found) && Object.hasOwn(found, segment) ? found[segment] : undefined;
  }
  return found;
}

/** The value with another one at a place whose parent exists; `replacement` undefined: without it. */
export function replacedAt(
  value: unknown,
  segments: readonly string[],
  replacement: unknown,
): unknown {
  const [first, ...rest] = segments;
  if (first === undefined) return replacement;
  if (Array.isArray(value)) {
    const index = indexOf(first);
    if (index === undefined || index >= value.length) return value;
    const item = replacedAt(value[index], rest, replacement);
    return item === undefined ? value.toSpliced(index, 1) : value.with(index, item);
  }
  if (!isFields(value) || (rest.length > 0 && !Object.hasOwn(value, first))) return value;
  const field = replacedAt(value[first], rest, replacement);
  const { [first]: _, ...others } = value;
  return field === undefined ? others : { ...value, [first]: field };
}

function indexOf(segment: string): number | undefined {
  return /^(0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : undefined;
}

/** Whether a pointer names the place of another one, or a part of what that names. */
export function isWithin(pointer: string, other: string): boolean {
  return other === "" || pointer === other || pointer.startsWith(`${other}/`);
}
