/** The address of grpc-js's `getPeer()` without its port, which is another one for each connection. */
export function hostOf(peer: string): string {
  const colon = peer.lastIndexOf(":");
  return colon < 0 ? peer : peer.slice(0, colon);
}
