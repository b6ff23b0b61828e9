/** Parses the body of a webhook: distribution's notifications, Harbor's webhooks, and plain `{"repository": …}`. Pure. */

import { createHash } from "node:crypto";
import { parseBounded } from "@flotilla/shared/json";
import * as z from "zod";

/** A repository as the sender names it: registries often omit the host, or use another one. */
export interface PushedRepository {
  /** Lower case, with the port; absent when unknown. */
  readonly host?: string;
  /** Without slashes at its ends. */
  readonly path: string;
}

export type Push =
  /** `delivery`: a short id, the same for a repeated delivery; absent when the body has none. */
  | {
      readonly kind: "named";
      readonly repositories: readonly PushedRepository[];
      readonly delivery?: string;
    }
  /** Without a repository: all of them. */
  | { readonly kind: "all" }
  /** No new versions: a pull, a scan, a test of the connection. */
  | { readonly kind: "nothing" }
  | { readonly kind: "invalid" };

/** The limit of one call. A registry sends one for each push, and several after an outage. */
const mostEvents = 1_000;

const distributionSchema = z.object({
  events: z
    .array(
      z.object({
        id: z.string().optional(),
        action: z.string().optional(),
        target: z.object({ repository: z.string(), url: z.string().optional() }).optional(),
        request: z.object({ host: z.string().optional() }).optional(),
      }),
    )
    .max(mostEvents),
});

const harborDataSchema = z.object({
  resources: z
    .array(z.object({ resource_url: z.string().optional() }))
    .max(mostEvents)
    .optional(),
  repository: z.object({ repo_full_name: z.string().optional() }),
});

/** `data` is where Harbor has the same in a CloudEvent. */
const harborSchema = z.union([
  z.object({ type: z.string(), event_data: harborDataSchema }),
  z
    .object({ type: z.string(), data: harborDataSchema })
    .transform(({ type, data }) => ({ type, event_data: data })),
]);

const genericSchema = z.object({ repository: z.string().min(1).optional() });

/** Actions of distribution after which a repository may have other versions. */
const changes: ReadonlySet<string> = new Set(["push", "delete"]);

export function readPush(body: string): Push {
  if (body.trim() === "") return { kind: "all" };
  let parsed: unknown;
  try {
    parsed = parseBounded(body);
  } catch {
    return { kind: "invalid" };
  }
  const distribution = distributionSchema.safeParse(parsed);
  if (distribution.success) return ofDistribution(distribution.data);
  const harbor = harborSchema.safeParse(parsed);
  if (harbor.success) return ofHarbor(harbor.data, body);
  const generic = genericSchema.safeParse(parsed);
  if (!generic.success) return { kind: "invalid" };
  const { repository } = generic.data;
  return repository === undefined
    ? { kind: "all" }
    : { kind: "named", repositories: [readName(repository)] };
}

function ofDistribution({ events }: z.infer<typeof distributionSchema>): Push {
  // Layers are pushed before the manifest: a poll for them would find nothing new.
  const changed = events.filter(
    ({ action, target }) => changes.has(action ?? "") && !/\/blobs\//.test(target?.url ?? ""),
  );
  const repositories = changed.flatMap(({ target, request }) =>
    target === undefined ? [] : [named(target.repository, hostOf(target.url) ?? request?.host)],
  );
  if (repositories.length === 0) return { kind: "nothing" };
  const ids = changed.map(({ id }) => id ?? "");
  return {
    kind: "named",
    repositories,
    ...(!ids.includes("") && { delivery: digestOf(ids.join(" ")) }),
  };
}

function ofHarbor({ type, event_data }: z.infer<typeof harborSchema>, body: string): Push {
  if (!/push|delete|replication/i.test(type)) return { kind: "nothing" };
  const { repository, resources = [] } = event_data;
  const urls = resources.flatMap(({ resource_url }) => resource_url ?? []).map(withoutTag);
  const repositories = urls.map(readName);
  const path = repository.repo_full_name;
  if (repositories.length === 0 && path !== undefined) repositories.push(named(path));
  // The body has the time of the event, so two pushes never have the same body.
  return repositories.length === 0
    ? { kind: "nothing" }
    : { kind: "named", repositories, delivery: digestOf(body) };
}

/** Instead of the body: a thousand of them would take 256 MiB. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** `oci://host/path`, `https://host/path`, `host:5000/path` or a path alone. */
function readName(text: string): PushedRepository {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(text.trim()) ?? [];
  const slash = rest.indexOf("/");
  const first = slash < 0 ? rest : rest.slice(0, slash);
  const isHost = scheme !== undefined || /[.:]|^localhost$/.test(first);
  if (!isHost) return named(rest);
  return named(slash < 0 ? "" : rest.slice(slash + 1), first);
}

function named(path: string, host?: string): PushedRepository {
  return {
    path: path.replace(/^\/+|\/+$/g, ""),
    ...(host !== undefined && host !== "" && { host: host.toLowerCase() }),
  };
}

function hostOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? "")?.host;
}

/** A reference without what follows the repository: `:tag` or `@sha256:…`. */
function withoutTag(reference: string): string {
  return reference.replace(/@[^/]*$/, "").replace(/:[^/:]*$/, "");
}
