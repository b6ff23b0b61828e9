/** Proxies for requests to repositories, from the usual environment variables. Pure. */
import { AppError, commonErrors } from "../../../runtime/errors/index.ts";
import type { ProxySettings } from "./connection-pools.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Never through a proxy, as in Go's programs. */
const thisMachine = "localhost,127.0.0.1,::1";

/** Undefined when none is set. Throws CONFIG_INVALID, without the value, which may have a password. */
export function proxySettings(environment: Environment): ProxySettings | undefined {
  const httpProxy = proxy(environment, "HTTP_PROXY");
  const httpsProxy = proxy(environment, "HTTPS_PROXY");
  if (httpProxy === undefined && httpsProxy === undefined) return undefined;
  const [, noProxy] = variable(environment, "NO_PROXY");
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    noProxy: noProxy === "" ? thisMachine : `${noProxy},${thisMachine}`,
  };
}

function proxy(environment: Environment, upper: string): string | undefined {
  const [name, text] = variable(environment, upper);
  if (text === "") return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ""))
    throw new AppError(
      commonErrors.CONFIG_INVALID,
      `${name} is not the address of a proxy, as in http://proxy.example.com:3128`,
    );
  return address;
}

/** The lower-case name takes precedence, as in other programs. */
function variable(environment: Environment, upper: string): readonly [name: string, text: string] {
  const lower = upper.toLowerCase();
  const small = environment[lower]?.trim() ?? "";
  return small === "" ? [upper, environment[upper]?.trim() ?? ""] : [lower, small];
}
