/** Registers a request of the API, whose answer has the type of its schema. */

import {
  type BodyOf,
  type EndpointName,
  endpoints,
  type ResponseOf,
} from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { ZodType } from "zod";
import { hubErrors } from "../../base/index.ts";
import type { Api, ApiContext } from "./context.ts";

/** A request has at most this many bytes of body. */
export const maxBodyBytes = 64 * 1024;

export function serve<N extends EndpointName>(
  api: Api,
  name: N,
  answer: (
    context: ApiContext,
    body: BodyOf<N>,
  ) => Promise<ResponseOf<N> | Response> | ResponseOf<N> | Response,
): void {
  const endpoint = endpoints[name];
  api.on(endpoint.method, honoPath(endpoint.path), async (context) => {
    const body = "body" in endpoint ? await bodyOf(context, endpoint.body) : undefined;
    const answered = await answer(context, body as BodyOf<N>);
    if (answered instanceof Response) return answered;
    return answered === undefined ? context.body(null, 204) : context.json(answered);
  });
}

/** `{name}` as `:name`. */
export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function bodyOf(context: ApiContext, schema: ZodType): Promise<unknown> {
  const json: unknown = await context.req.json().catch(() => undefined);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the body" : issue.path.join(".");
  throw new AppError(
    hubErrors.VIEW_INVALID,
    `the request is not valid: ${where}: ${issue?.message ?? "not JSON"}`,
  );
}
