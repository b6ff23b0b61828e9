/**
 * What is used of undici. Its main module loads much that is not, such as caches, mocks and web sockets: 10 MB of an idle
 * process.
 */
import api from "undici/lib/api/index.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import Socks5ProxyAgent from "undici/lib/dispatcher/socks5-proxy-agent.js";

// As undici's main module does. The agents for proxies call these, too.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector, EnvHttpProxyAgent, Pool, ProxyAgent, Socks5ProxyAgent };
