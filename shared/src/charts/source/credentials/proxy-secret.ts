/** The proxy in the Secret of `proxySecretRef`. Pure. */
import type { AppError } from "../../../runtime/errors/index.ts";
import type { ProxyAccess } from "../index.ts";
import { given, halfPair, invalidSecret, type Texts, unescaped } from "./secret-texts.ts";

const maxAddressLength = 2048;

/** The keys that are used. */
export const proxyKeys: readonly string[] = ["address", "username", "password"];

export function proxyOf(data: Texts): ProxyAccess | AppError {
  const { address = "" } = data;
  if (address.trim() === "")
    return invalidSecret("address is missing in the secret of proxySecretRef");
  const url = address.length > maxAddressLength ? null : URL.parse(address.trim());
  if (url === null || !/^(https?|socks5):$/.test(url.protocol) || url.hostname === "")
    return invalidSecret(
      "address of the secret of proxySecretRef is not the address of a proxy, as in http://proxy.example.com:3128, https:// or socks5://",
    );
  const half = halfPair(data, "username", "password");
  if (half !== undefined) return half;
  const username = given(data["username"]) ? data["username"] : unescaped(url.username);
  const password = given(data["password"]) ? data["password"] : unescaped(url.password);
  return {
    address: `${url.protocol}//${url.host}`,
    ...(username !== "" && { username, password }),
  };
}
