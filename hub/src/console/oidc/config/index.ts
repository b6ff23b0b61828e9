export {
  type ClaimRules,
  isSecure,
  type OidcConfig,
  oidcFlags,
  oidcUsage,
  parseOidcConfig,
} from "./oidc-config.ts";
