/** Single modules of undici, as its main module imports them. */
declare module "undici/lib/dispatcher/dispatcher.js" {
  import { Dispatcher } from "undici";
  export = Dispatcher;
}

declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export = Pool;
}

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export = Agent;
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  import { ProxyAgent } from "undici";
  export = ProxyAgent;
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  import { EnvHttpProxyAgent } from "undici";
  export = EnvHttpProxyAgent;
}

declare module "undici/lib/dispatcher/socks5-proxy-agent.js" {
  import { Socks5ProxyAgent } from "undici";
  export = Socks5ProxyAgent;
}

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";
  export = buildConnector;
}

declare module "undici/lib/api/index.js" {
  import { Dispatcher } from "undici";

  const api: Pick<Dispatcher, "request" | "stream" | "pipeline" | "upgrade" | "connect">;
  export = api;
}
