/** Lists the tags of an OCI repository, page by page. */

import { createFairSemaphore, createTimeSlices } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { parseBounded } from "../../../text/json/index.ts";
import { chartErrors, parseOciName, type RepositoryAccess, RepositoryError } from "../index.ts";
import { discard, type Exchange, readBody, responseError } from "../transport/index.ts";
import type { OciRegistry } from "./registry.ts";

const maxPages = 500;
const maxTags = 100_000;
const maxPageBytes = 4 * 1024 * 1024;
const pageTimeoutMs = 60_000;
/** ECR rejects more than 1000 with 405. The last leaves the size to the registry. */
const pageSizes = [10_000, 1000, undefined];

/** Lists that are read at the same time: each may have 12 MiB. Of one registry a quarter, because it may respond slowly. */
const concurrentLists = { capacity: 16, share: 4 };

export interface ListQuery {
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

/** The tags in the registry's order. */
export type ListTags = (query: ListQuery) => Promise<readonly string[]>;

export function createTagLists(registry: OciRegistry): ListTags {
  const lists = createFairSemaphore(concurrentLists);
  return (query) => {
    const caller = parseOciName(query.repository)?.host ?? "";
    return lists.run({ caller, signal: query.signal }, () => listTags(registry, query));
  };
}

async function listTags(registry: OciRegistry, query: ListQuery): Promise<readonly string[]> {
  const tags = new Set<string>();
  const seen = new Set<string>();
  const slices = createTimeSlices();
  let response = await firstPage(registry, query);

  for (let page = 1; ; page++) {
    for (const tag of await readPage(response)) {
      if (slices.isOver) await slices.pause();
      if (isTag(tag)) tags.add(tag);
    }
    const next = nextPage(response);
    if (next === undefined) return [...tags];
    if (page === maxPages || tags.size > maxTags || seen.has(next.href)) {
      const why = seen.has(next.href)
        ? "its pages link to each other in a loop"
        : `it has more than ${maxTags} tags or ${maxPages} pages`;
      throw new AppError(
        chartErrors.REGISTRY_ANSWER,
        `${response.request}: listing tags stopped: ${why}`,
      );
    }
    seen.add(next.href);
    response = await requestPage(registry, query, next);
    if (response.status !== 200)
      throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
  }
}

/** The address in `Link: <…>; rel="next"`, relative to the request that returned the header. */
export function nextPage(response: Pick<Exchange, "url" | "headerValues">): URL | undefined {
  for (const header of response.headerValues("link")) {
    for (const [, target = "", parameters = ""] of header.matchAll(/<([^>]*)>([^<]*)/g)) {
      if (!/;\s*rel\s*=\s*"?(?:[^"]*\s)?next(?:[\s";,]|$)/i.test(parameters)) continue;
      return URL.parse(target, response.url.href) ?? undefined;
    }
  }
  return undefined;
}

async function firstPage(registry: OciRegistry, query: ListQuery): Promise<Exchange> {
  for (const size of pageSizes) {
    const response = await requestPage(
      registry,
      query,
      size === undefined ? "tags/list" : `tags/list?n=${size}`,
    );
    if (response.status === 200) return response;
    if (response.status === 404)
      throw notFound(
        query.repository,
        await responseError(response, query.access, chartErrors.CHART_NOT_FOUND),
      );
    const isAboutSize = response.status === 405 || response.status === 400;
    if (!isAboutSize || size === undefined)
      throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
    await discard(response.body);
  }
  throw new AppError(
    chartErrors.REGISTRY_ANSWER,
    `${query.repository}: the registry lists no tags`,
  );
}

function notFound(repository: string, response: RepositoryError): RepositoryError {
  return new RepositoryError(
    chartErrors.CHART_NOT_FOUND,
    `repository ${repository} not found in the registry: ${response.message}`,
    { status: 404 },
  );
}

function requestPage(
  registry: OciRegistry,
  query: ListQuery,
  target: string | URL,
): Promise<Exchange> {
  return registry.send({
    method: "GET",
    ...query,
    target,
    accept: "application/json",
    timeoutMs: pageTimeoutMs,
    errorKind: chartErrors.REGISTRY_UNREACHABLE,
  });
}

/** What the page lists, which may be anything. */
async function readPage(response: Exchange): Promise<readonly unknown[]> {
  const { bytes } = await readBody(response, {
    maxBytes: maxPageBytes,
    tooLarge: chartErrors.REGISTRY_ANSWER,
  });
  let page: unknown;
  try {
    page = parseBounded(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the list of tags is not JSON`,
      { cause },
    );
  }
  if (typeof page !== "object" || page === null || !("tags" in page)) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the response is not a list of tags`,
    );
  }
  // Null in a repository whose last tag was deleted.
  return Array.isArray(page.tags) ? page.tags : [];
}

/** A tag as the distribution specification defines it, so that it is safe in an address. */
function isTag(tag: unknown): tag is string {
  return typeof tag === "string" && /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(tag);
}
