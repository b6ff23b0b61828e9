/** The fencing of writes by a term of leadership. */
import type { CallOptions, KubeConnection, KubeRest } from "../client/index.ts";
import type { Leadership } from "./leadership.ts";

/** As for writes without fencing. */
const longestWriteMs = 10_000;

/** The same client, whose writes throw once the leadership is lost, and end before another replica may lead. */
export function fenceWrites(
  rest: KubeRest,
  leadership: Pick<Leadership, "confirmLeading" | "remainingMs">,
): KubeRest {
  async function fenced<O extends CallOptions>(options: O): Promise<O> {
    await leadership.confirmLeading();
    return {
      ...options,
      timeoutMs: Math.min(options.timeoutMs ?? longestWriteMs, leadership.remainingMs()),
    };
  }

  return {
    ...rest,
    async create(resource, object, options = {}) {
      return rest.create(resource, object, await fenced(options));
    },
    async replace(resource, object, options = {}) {
      return rest.replace(resource, object, await fenced(options));
    },
    async patch(resource, ref, patch, options = {}) {
      return rest.patch(resource, ref, patch, await fenced(options));
    },
    async delete(resource, ref, options = {}) {
      return rest.delete(resource, ref, await fenced(options));
    },
  };
}

/** The same for a connection and its impersonated clients. */
export function fenceConnection(
  connection: KubeConnection,
  leadership: Leadership,
): KubeConnection {
  return {
    ...fenceWrites(connection, leadership),
    as: (user) => fenceWrites(connection.as(user), leadership),
  };
}
