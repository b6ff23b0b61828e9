/**
 * The values of a plan as they go into its digest: what comes from a Secret as an HMAC with the key of the plan, so that another
 * password is another digest and none can be guessed from it; what differs from one rendering to the next as a mark. Pure.
 */
import { createHmac } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import { type DriftObject, isFields, isWithin, pointerOf } from "../../observe/index.ts";

export interface Masking {
  /** All clusters of one plan have the same. */
  readonly key: Uint8Array;
  /** Removes values of Secrets from a text. */
  readonly redact: (text: string) => string;
}

/** In place of a value that differs from one rendering to the next. */
export const generatedMark = "(generated)";

/** Where a value is. */
export interface Place {
  readonly object: Pick<DriftObject, "apiVersion" | "kind">;
  readonly segments: readonly string[];
  /** The pointers in the object whose values are generated. */
  readonly generated: readonly string[];
}

/** The value with its masked parts replaced, as JSON. */
export function digestible(value: unknown, place: Place, masking: Masking): unknown {
  const { segments, generated } = place;
  const pointer = pointerOf(segments);
  if (generated.some((each) => isWithin(pointer, each))) return generatedMark;
  const part = (item: unknown, segment: string): unknown =>
    digestible(item, { ...place, segments: [...segments, segment] }, masking);
  if (Array.isArray(value)) return value.map((item, index) => part(item, String(index)));
  if (isFields(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, part(item, key)]));
  if (!isSecretPlace(place) && !hasSecret(value, masking)) return value;
  const hmac = createHmac("sha256", masking.key).update(canonicalJson(value)).digest("hex");
  return { hmac };
}

/** Whether the place is a value of a Secret. */
export function isSecretPlace({ object, segments }: Pick<Place, "object" | "segments">): boolean {
  const [field = ""] = segments;
  return isSecret(object) && (field === "data" || field === "stringData");
}

/** A Secret, of whose values nothing is ever shown. */
export function isSecret({ apiVersion, kind }: Pick<DriftObject, "apiVersion" | "kind">): boolean {
  return apiVersion === "v1" && kind === "Secret";
}

/** Whether a text that came from a Secret is in the value. */
export function hasSecret(value: unknown, { redact }: Pick<Masking, "redact">): boolean {
  if (value === undefined || value === null || typeof value === "boolean") return false;
  const text = canonicalJson(value);
  return redact(text) !== text;
}
