/**
 * Archives at a fixed HTTP address (`.tgz`): a source without versions. Its pin is the address; the digest can only be
 * computed after the download.
 */
import type { ArchiveLocation, ArchivePin, Source } from "../index.ts";
import { type Exchanger, fetchByUrl } from "../transport/index.ts";

export interface ArchiveSourceDeps {
  readonly exchange: Exchanger;
}

export function createArchiveSource({
  exchange,
}: ArchiveSourceDeps): Source<ArchiveLocation, ArchivePin> {
  return {
    pinsUnlisted: true,
    list: () => Promise.resolve(undefined),
    pin: ({ url }) => Promise.resolve({ pin: { kind: "tarball", url }, problems: [] }),
    fetch: (pin, write, request) => fetchByUrl(exchange, pin, write, request),
  };
}
