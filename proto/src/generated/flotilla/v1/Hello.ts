// Original file: proto/fleet.proto

import type { Holding as _flotilla_v1_Holding, Holding__Output as _flotilla_v1_Holding__Output } from '../../flotilla/v1/Holding.ts';

export interface Hello {
  'protocolVersion'?: (number);
  'hubId'?: (string);
  'agentVersion'?: (string);
  'agentNamespace'?: (string);
  'holdings'?: (_flotilla_v1_Holding)[];
}

export interface Hello__Output {
  'protocolVersion': (number);
  'hubId': (string);
  'agentVersion': (string);
  'agentNamespace': (string);
  'holdings': (_flotilla_v1_Holding__Output)[];
}
