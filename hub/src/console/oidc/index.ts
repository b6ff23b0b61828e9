export { createOidcLogin, type OidcLogin } from "./oidc-login.ts";
