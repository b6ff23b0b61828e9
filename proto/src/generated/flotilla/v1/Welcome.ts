// Original file: proto/fleet.proto

import type { Long } from '@grpc/proto-loader';

export interface Welcome {
  'protocolVersion'?: (number);
  'hubId'?: (string);
  'epoch'?: (number | string | Long);
  'hubVersion'?: (string);
}

export interface Welcome__Output {
  'protocolVersion': (number);
  'hubId': (string);
  'epoch': (string);
  'hubVersion': (string);
}
