/**
 * How a hub says that a stream ends and nothing is wrong, because it goes away or the agent's certificate has ended: in
 * the trailers, so that an agent can tell this from a hub that broke down, and connects again at once instead of waiting
 * first.
 */
import { Metadata } from "@grpc/grpc-js";

const handOverKey = "flotilla-hand-over";

export function reconnectTrailers(): Metadata {
  const trailers = new Metadata();
  trailers.set(handOverKey, "1");
  return trailers;
}

export function isReconnectRequest(trailers: Metadata): boolean {
  return trailers.get(handOverKey).length > 0;
}
