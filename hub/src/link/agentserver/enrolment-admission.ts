/**
 * Admission of calls without a certificate. gRPC buffers a message until it is complete, up to the largest that agents may send:
 * without a limit anybody who reaches the port could fill the hub's memory. A request to enrol is one small message, which arrives
 * with its call; a call that stays incomplete makes room for others.
 */
import { createFairPool } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  status,
} from "@grpc/grpc-js";
import { enrolmentRateLimited } from "../enrolment/rate-limited.ts";
import type { RpcError } from "../rpc/errors.ts";
import { hostOf, type Rejections } from "../rpc/rejections.ts";
import { addressBlock } from "./address-block.ts";
import type { AgentPort } from "./port.ts";

export interface Rejecting {
  readonly reject: (call: ServerInterceptingCallInterface, error: RpcError) => void;
}

export interface EnrolmentAdmissionDeps extends Rejecting {
  /** Why no call is answered now. */
  readonly notReady: () => RpcError | undefined;
  readonly connections: Pick<AgentPort, "bytesFrom" | "closeConnection">;
  readonly rejections: Pick<Rejections, "count">;
  readonly clock: Clock;
}

/** Incomplete calls. With `maxBytes` for each, 128 MiB at worst; as many as may enrol at once (enrolment.ts). */
const limits = { capacity: 500, keepMs: 1_000 };
const timeoutMs = 10_000;
/** The limit of the connection, until the message is complete. */
const maxBytes = 256 * 1024;
const checkMs = 100;
/** For the peer to read its answer, before the connection is closed. */
const answerGraceMs = 1_000;

type Admit = (call: ServerInterceptingCallInterface) => ServerInterceptingCall;

export function enrolmentAdmission(deps: EnrolmentAdmissionDeps): Admit {
  const { clock, connections, rejections } = deps;
  const pool = createFairPool(clock, limits);

  return function admit(call) {
    let settled = (): void => undefined;

    function acquire(): boolean {
      const peer = call.getPeer();
      // The connection, and not only the call: gRPC keeps what has arrived for as long as the caller leaves the call open.
      const end = () => {
        settled();
        rejections.count("enrolment");
        connections.closeConnection(peer);
      };
      const release = pool.admit(addressBlock(hostOf(peer)), end);
      if (release === undefined) {
        rejections.count("enrolment");
        const { status: code, message: details } = enrolmentRateLimited();
        call.sendStatus({ code, details });
        return false;
      }
      const startedAt = clock.monotonic();
      const before = connections.bytesFrom(peer);
      function check(): void {
        if (connections.bytesFrom(peer) - before > maxBytes) end();
        else if (clock.monotonic() - startedAt < timeoutMs)
          timer = clock.setTimeout(check, checkMs);
        else {
          rejections.count("enrolment");
          const details = `the request to enrol was not complete within ${timeoutMs / 1_000} s`;
          call.sendStatus({ code: status.DEADLINE_EXCEEDED, details });
          // Released only when nothing is buffered any more.
          settled = () => undefined;
          clock.setTimeout(() => {
            connections.closeConnection(peer);
            release?.();
          }, answerGraceMs);
        }
      }
      let timer = clock.setTimeout(check, checkMs);
      settled = () => {
        timer.cancel();
        release();
      };
      return true;
    }

    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            const error = deps.notReady();
            if (error !== undefined) deps.reject(call, error);
            else if (acquire()) proceed(metadata);
          },
          onReceiveMessage(message, proceed) {
            settled();
            proceed(message);
          },
          // Also called when the call ends regularly.
          onCancel: () => settled(),
        });
      },
    });
  };
}
