/** Requests to enrol and to renew are short: what is not was not made by an agent, and is not even decoded. */
import type { loadFleetService } from "@flotilla/proto/service.ts";

type FleetService = ReturnType<typeof loadFleetService>["service"];

/** A token, a request for a certificate, and as many labels of the greatest length as the contract allows. */
const maxRequestBytes = 256 * 1024;

export function withSmallRequests(service: FleetService): FleetService {
  const { Enroll, Renew } = service;
  return {
    ...service,
    Enroll: { ...Enroll, requestDeserialize: bounded(Enroll.requestDeserialize) },
    Renew: { ...Renew, requestDeserialize: bounded(Renew.requestDeserialize) },
  };
}

function bounded<T>(decode: (bytes: Buffer) => T): (bytes: Buffer) => T {
  return (bytes) => {
    // Answered by gRPC as what cannot be decoded; no agent ever reads that.
    if (bytes.length > maxRequestBytes)
      throw new Error(`the request has ${bytes.length} bytes, ${maxRequestBytes} are allowed`);
    return decode(bytes);
  };
}
