/** Trailers with instructions for an agent, sent when the hub ends a stream or rejects a call. */
import { Metadata } from "@grpc/grpc-js";

const reconnectKey = "flotilla-reconnect";
const newKeyKey = "flotilla-new-key";

/** The stream ends without an error (the hub shuts down, the certificate expired): reconnect at once, without backoff. */
export function reconnectTrailers(): Metadata {
  return flag(reconnectKey);
}

export function isReconnectRequest(trailers: Metadata): boolean {
  return hasFlag(trailers, reconnectKey);
}

/** The hub would enrol the agent with any other key than the one in its request: create a new key and try again. */
export function newKeyRequiredTrailers(): Metadata {
  return flag(newKeyKey);
}

export function isNewKeyRequired(trailers: Metadata | undefined): boolean {
  return trailers !== undefined && hasFlag(trailers, newKeyKey);
}

function flag(key: string): Metadata {
  const trailers = new Metadata();
  trailers.set(key, "1");
  return trailers;
}

function hasFlag(trailers: Metadata, key: string): boolean {
  return trailers.get(key).length > 0;
}
