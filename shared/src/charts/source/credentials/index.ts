export { accessSecretKeys, accessSettingsFromSecret } from "./access-secret.ts";
export { proxyKeys } from "./proxy-secret.ts";
export {
  accessFromSourceSecrets,
  type SourceAccessOptions,
  type SourceKind,
  sourceSecretKeys,
} from "./source-secrets.ts";
export { certificateKeys } from "./tls-secret.ts";
