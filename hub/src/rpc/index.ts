export { RpcError, toGrpcError } from "./errors.ts";
export {
  type AgentStream,
  decoded,
  type Incoming,
  type IncomingHandlers,
  withIncomingDecoders,
} from "./incoming.ts";
export { createRejections, hostOf, type RejectionReason, type Rejections } from "./rejections.ts";
