// Original file: proto/fleet.proto

import type { Holding as _flotilla_v1_Holding, Holding__Output as _flotilla_v1_Holding__Output } from '../../flotilla/v1/Holding.ts';
import type { HeldSupply as _flotilla_v1_HeldSupply, HeldSupply__Output as _flotilla_v1_HeldSupply__Output } from '../../flotilla/v1/HeldSupply.ts';

export interface Hello {
  'protocolVersion'?: (number);
  'hubId'?: (string);
  'agentVersion'?: (string);
  'agentNamespace'?: (string);
  'holdings'?: (_flotilla_v1_Holding)[];
  'factsDigest'?: (string);
  'supplies'?: (_flotilla_v1_HeldSupply)[];
  'newestProtocolVersion'?: (number);
  'authoritiesDigest'?: (string);
}

export interface Hello__Output {
  'protocolVersion': (number);
  'hubId': (string);
  'agentVersion': (string);
  'agentNamespace': (string);
  'holdings': (_flotilla_v1_Holding__Output)[];
  'factsDigest': (string);
  'supplies': (_flotilla_v1_HeldSupply__Output)[];
  'newestProtocolVersion': (number);
  'authoritiesDigest': (string);
}
