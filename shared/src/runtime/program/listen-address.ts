/** Listen addresses of flags such as `--listen`. */
import { AppError, commonErrors } from "../errors/index.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** `host:port`; an IPv6 address has brackets, as in a URL. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `host:port`, `[::1]:port` or `:port` (all addresses). Throws CONFIG_INVALID. */
export function parseListenAddress(text: string, flag: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new AppError(
      commonErrors.CONFIG_INVALID,
      `${flag} is "${text}", not host:port; write for example 127.0.0.1:8080 or :8080`,
    );
  }
  return { host: match[1] ?? (match[2] === "" ? "0.0.0.0" : (match[2] ?? "0.0.0.0")), port };
}
