/**
 * A name that the certificate of every hub carries besides those that it is reached by. An agent that has an IP address
 * checks for this one: TLS has no server name for an address.
 */
export const hubServerName = "flotilla-hub";
