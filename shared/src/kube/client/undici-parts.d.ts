/** Single modules of undici: its main module loads much that is not used here, such as caches and web sockets (13 MB). */
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export = Pool;
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  import { ProxyAgent } from "undici";
  export = ProxyAgent;
}
