/**
 * What a route throws when it cannot answer the request of a user. `problem.ts` has the HTTP status of each code; the message is sent
 * as it is, so it has nothing that the user may not see.
 */

import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";

export function invalid(message: string): AppError {
  return new AppError(hubErrors.VIEW_INVALID, message);
}

export function forbidden(message: string): AppError {
  return new AppError(hubErrors.VIEW_FORBIDDEN, message);
}

export interface NamedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function notFound({ kind, namespace, name }: NamedObject): AppError {
  const message = `there is no ${kind} ${namespace}/${name}`;
  return new AppError(hubErrors.VIEW_NOT_FOUND, message);
}
