/** The error of an agent that has to wait. */

import { status } from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";

export function enrolmentRateLimited(): RpcError {
  const message = "too many enrolments at the moment; back off before the next attempt";
  return new RpcError(status.RESOURCE_EXHAUSTED, hubErrors.ENROLMENT_RATE_LIMITED, message);
}
