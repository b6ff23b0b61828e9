// Original file: proto/fleet.proto

import type { Long } from '@grpc/proto-loader';

export interface StateAck {
  'name'?: (string);
  'sequence'?: (number | string | Long);
}

export interface StateAck__Output {
  'name': (string);
  'sequence': (string);
}
