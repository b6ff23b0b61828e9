/**
 * How a hub says that it would enrol an agent with any key but the one that it has shown: in the trailers of the refusal,
 * so that the agent makes another one by itself.
 */
import { Metadata } from "@grpc/grpc-js";

const newKeyKey = "flotilla-new-key";

export function newKeyRequiredTrailers(): Metadata {
  const trailers = new Metadata();
  trailers.set(newKeyKey, "1");
  return trailers;
}

export function isNewKeyRequired(trailers: Metadata | undefined): boolean {
  return trailers !== undefined && trailers.get(newKeyKey).length > 0;
}
