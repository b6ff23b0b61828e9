/** Whether the API server has the kinds of objects now, by its discovery: what is kept of earlier answers does not count here. */
import { messageOf } from "@flotilla/shared/errors";
import { isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import * as z from "zod";
import type { OwnedObject } from "../../helm/index.ts";
import { builtInKind } from "../../observe/index.ts";

export type ServedKind =
  | { readonly kind: "served" }
  /** The group has the kind, in other versions alone. */
  | { readonly kind: "in another version"; readonly apiVersion: string }
  /** Neither the version nor another one of its group has the kind: there are no objects of it. */
  | { readonly kind: "gone" }
  /** It cannot be said now: an APIService whose server does not answer is not gone, nor are its objects. */
  | { readonly kind: "unavailable"; readonly why: string };

/** Each version and each group is asked for once. Rejects only when `signal` aborts. */
export type FindServedKind = (
  object: Pick<OwnedObject, "apiVersion" | "kind">,
) => Promise<ServedKind>;

type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "not found" }
  | { readonly kind: "failed"; readonly why: string };

const resourcesSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string() })),
});
const groupSchema = z.object({ versions: z.array(z.object({ groupVersion: z.string() })) });

export function createFindServedKind(
  rest: Pick<KubeRest, "raw">,
  signal: AbortSignal,
): FindServedKind {
  const answers = new Map<string, Promise<Answer<unknown>>>();

  async function request<T>(path: string, schema: z.ZodType<T>): Promise<Answer<T>> {
    try {
      return {
        kind: "answered",
        value: schema.parse(JSON.parse(await rest.raw(path, { signal }))),
      };
    } catch (thrown) {
      signal.throwIfAborted();
      if (isNotFound(thrown)) return { kind: "not found" };
      return { kind: "failed", why: messageOf(thrown) };
    }
  }

  function ask<T>(path: string, schema: z.ZodType<T>): Promise<Answer<T>> {
    // A path has answers of one schema.
    const known = answers.get(path) as Promise<Answer<T>> | undefined;
    if (known !== undefined) return known;
    const answer = request(path, schema);
    answers.set(path, answer);
    return answer;
  }

  async function has(apiVersion: string, kind: string): Promise<Answer<boolean>> {
    const root = apiVersion.includes("/") ? "/apis" : "/api";
    const answer = await ask(`${root}/${apiVersion}`, resourcesSchema);
    if (answer.kind !== "answered") return answer;
    const isKind = (each: { readonly name: string; readonly kind: string }) =>
      each.kind === kind && !each.name.includes("/");
    return { kind: "answered", value: answer.value.resources.some(isKind) };
  }

  return async function find({ apiVersion, kind }) {
    if (builtInKind(apiVersion, kind) !== undefined) return { kind: "served" };
    const own = await has(apiVersion, kind);
    if (own.kind === "failed") return { kind: "unavailable", why: own.why };
    if (own.kind === "answered" && own.value) return { kind: "served" };
    const slash = apiVersion.indexOf("/");
    if (slash < 0) return { kind: "gone" };
    const group = await ask(`/apis/${apiVersion.slice(0, slash)}`, groupSchema);
    if (group.kind === "failed") return { kind: "unavailable", why: group.why };
    if (group.kind === "not found") return { kind: "gone" };
    for (const { groupVersion } of group.value.versions) {
      if (groupVersion === apiVersion && own.kind === "answered") continue;
      const other = await has(groupVersion, kind);
      if (other.kind === "answered" && other.value)
        return { kind: "in another version", apiVersion: groupVersion };
      if (other.kind === "answered") continue;
      // Its group has an APIService for a version that nothing serves.
      const why = other.kind === "failed" ? other.why : "the API server does not serve it now";
      return { kind: "unavailable", why: `${groupVersion}: ${why}` };
    }
    return { kind: "gone" };
  };
}
