/** Lists all objects of a kind, page by page. */
import type { KubeObject, Resource } from "../objects/index.ts";
import type { KubeRest } from "./rest.ts";
import { isGone } from "./status-error.ts";

/** Which objects of a kind; all when nothing is set. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** All objects as they were at one resourceVersion. */
export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
}

export interface ListAllOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  /** Applied to each object as soon as its page arrives. */
  readonly transform: (object: T) => T;
  readonly signal: AbortSignal;
}

const pageSize = 500;

export async function listAll<T extends KubeObject>(
  options: ListAllOptions<T>,
): Promise<Listed<T>> {
  const { rest, resource, selection, transform, signal } = options;
  const objects: T[] = [];
  let next: string | undefined;
  for (;;) {
    try {
      const page = await rest.list(resource, {
        ...selection,
        signal,
        limit: pageSize,
        ...(next === undefined ? {} : { next }),
      });
      for (const object of page.items) objects.push(transform(object));
      if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
      next = page.next;
    } catch (error) {
      if (next === undefined || !isGone(error)) throw error;
      // The continue token has expired; a list without pages needs no history.
      const page = await rest.list(resource, { ...selection, signal });
      return { objects: page.items.map(transform), resourceVersion: page.resourceVersion };
    }
  }
}
