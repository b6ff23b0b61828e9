export { issueTestCertificate, type TestCertificate } from "./certificate.ts";
export { type IndexLine, indexText } from "./index-text.ts";
export { rsaKeyOfSize } from "./private-key.ts";
export { createTestClient } from "./test-client.ts";
export { startHttpProxy, startSocksProxy, type TestProxy } from "./test-proxy.ts";
export { describeRequest, digestOf, registryOf, testChart } from "./test-registry.ts";
export { type Respond, send, startTestServer, type TestServer } from "./test-server.ts";
