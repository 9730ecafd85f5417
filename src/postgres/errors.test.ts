import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../store/store.ts';
import { isConflict, isLost, storeErrorOf } from './errors.ts';

/** An error as the server answers it. */
function refusal(sqlState: string): DatabaseError {
  const error = new DatabaseError('no', 2, 'error');
  error.code = sqlState;
  return error;
}

it.each<[string, StoreErrorCode]>([
  ['08006', 'store_unavailable'],
  ['25006', 'store_unavailable'],
  ['28P01', 'store_unavailable'],
  ['3D000', 'store_unavailable'],
  ['57P01', 'store_unavailable'],
  ['57P03', 'store_unavailable'],
  ['53300', 'store_unavailable'],
  ['53100', 'store_full'],
  ['53200', 'store_busy'],
  ['55P03', 'store_busy'],
  ['57014', 'store_busy'],
  ['40P01', 'store_busy'],
  ['58030', 'store_failed'],
  ['XX001', 'store_failed'],
  ['23505', 'store_bug'],
  ['42601', 'store_bug'],
  ['XX000', 'store_bug'],
  ['42501', 'store_unsuitable'],
])('calls %s %s', (sqlState, code) => {
  expect(storeErrorOf(refusal(sqlState)).code).toBe(code);
});

it.each<[unknown, StoreErrorCode]>([
  [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'store_unavailable'],
  [new Error('Connection terminated unexpectedly'), 'store_unavailable'],
  [new Error('Query read timeout'), 'store_unavailable'],
  [new Error('timeout exceeded when trying to connect'), 'store_unavailable'],
  [
    Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    'store_unavailable',
  ],
  [Object.assign(new Error('no'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'store_unavailable'],
  [new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'store_unavailable'],
  [new TypeError('the connection is not a function'), 'store_bug'],
  [new Error('no transition'), 'store_bug'],
  ['nothing', 'store_bug'],
])('sorts what the server did not say: %s', (error, code) => {
  expect(storeErrorOf(error).code).toBe(code);
});

it('leaves the store’s own errors as they are', () => {
  const error = new StoreError('store_newer', 'newer');
  expect(storeErrorOf(error)).toBe(error);
});

it('does again what was rolled back for others, and nothing else', () => {
  const states = ['40001', '40P01', '57014', '23505'];
  expect(states.map((state) => isConflict(refusal(state)))).toEqual([true, true, false, false]);
  expect(isConflict(new Error('deadlock'))).toBe(false);
});

it('tries another connection after one that broke, not after an answer that is late or will stay the same', () => {
  const lost = ['08006', '08P01', '57P01', '57P03', '53300'].map(refusal);
  expect(lost.map(isLost)).toEqual(lost.map(() => true));
  const stays = ['28P01', '3D000', '25006', '57014', '40001', '53100'].map(refusal);
  expect(stays.map(isLost)).toEqual(stays.map(() => false));
  expect(isLost(Object.assign(new Error('read'), { code: 'ECONNRESET' }))).toBe(true);
  expect(isLost(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isLost(new Error('Query read timeout'))).toBe(false);
  expect(isLost(Object.assign(new Error('self-signed'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }))).toBe(false);
  expect(isLost(new StoreError('store_closed', 'Connection terminated'))).toBe(false);
  expect(isLost(new TypeError('terminated'))).toBe(false);
});

it('has words for connections that were never made', () => {
  const both = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]), {
    code: 'ECONNREFUSED',
  });
  expect(storeErrorOf(both).message).toBe('PostgreSQL: connect ECONNREFUSED ::1:5432');
  expect(storeErrorOf(new Error('The server does not support SSL connections')).message).toMatch(
    /database.tls/,
  );
});
