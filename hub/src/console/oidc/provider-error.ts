/** Errors of the provider, for the user and the log: without codes, tokens and secrets, which the library's errors have. */

import { AppError, type ErrorKind } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import type { OpenIdClient } from "./library.ts";

const maxLength = 300;

/** `kind`: of an answer that the library does not accept. */
export function providerError(thrown: unknown, { library, issuer, kind }: ErrorContext): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof library.AuthorizationResponseError)
    return rejected(`the provider ${issuer} has not logged you in: ${answerOf(thrown)}`);
  if (thrown instanceof library.ResponseBodyError)
    return rejected(
      `the provider ${issuer} does not give the hub a token: ${answerOf(thrown)}; check the client's id and secret and its redirect URI`,
    );
  if (thrown instanceof library.WWWAuthenticateChallengeError)
    return rejected(
      `the provider ${issuer} does not accept the hub's client id or secret (status ${thrown.status})`,
    );
  if (!(thrown instanceof library.ClientError))
    return new AppError(kind, `the answer of the provider ${issuer} cannot be used`);
  if (thrown.cause instanceof AppError) return thrown.cause;
  return new AppError(
    kind,
    `the answer of the provider ${issuer} cannot be used: ${thrown.message}${reasonOf(thrown.cause)}`,
  );
}

/** Whether the provider does not accept how, or with which secret, the hub authenticates; the code of the login is still valid. */
export function isClientRefused(thrown: unknown, library: OpenIdClient): boolean {
  return (
    thrown instanceof library.WWWAuthenticateChallengeError ||
    (thrown instanceof library.ResponseBodyError && thrown.error === "invalid_client")
  );
}

export interface ErrorContext {
  readonly library: OpenIdClient;
  readonly issuer: string;
  readonly kind: ErrorKind;
}

function rejected(message: string): AppError {
  return new AppError(hubErrors.OIDC_REJECTED, message);
}

function answerOf({
  error,
  error_description: text = "",
}: {
  readonly error: string;
  readonly error_description?: string | undefined;
}): string {
  return oneLine(text === "" ? error : `${error}: ${text}`);
}

/** The reason of the library's own checks. Other causes may quote what the provider has sent. */
function reasonOf(cause: unknown): string {
  const isCheck = cause instanceof Error && cause.name === "OperationProcessingError";
  return isCheck ? `: ${oneLine(cause.message)}` : "";
}

/** The provider's text, for a page and a log. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
