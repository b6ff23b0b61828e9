/** The address of the client of an HTTP request. Pure. */
import type { IncomingMessage } from "node:http";

/**
 * The address of the connection or, behind an ingress, the one that the ingress has added to a header: the last entry, since the client
 * can write all others. `header`: only where it is configured; without an ingress the client would write that, too.
 */
export function clientAddress(
  {
    headers,
    socket,
  }: Pick<IncomingMessage, "headers"> & {
    readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
  },
  header: string | undefined,
): string {
  const value = header === undefined ? undefined : headers[header.toLowerCase()];
  const last = [value ?? []].flat().at(-1)?.split(",").at(-1)?.trim() ?? "";
  return last === "" ? (socket.remoteAddress ?? "") : last;
}
