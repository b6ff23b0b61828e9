export { availableMemoryBytes } from "./available-memory.ts";
export { startHealthServer } from "./health-server.ts";
export { type Route, startHttpServer } from "./http-server.ts";
export { formatListenAddress, type ListenAddress, parseListenAddress } from "./listen-address.ts";
export { runProgram } from "./run-program.ts";
