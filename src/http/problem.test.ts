import { expect, test } from 'vitest';
import { Problem, problemBody } from './problem.ts';

test('a problem has every field of the contract, and all faulty fields', () => {
  const errors = [{ pointer: '/to/1', code: 'bad_address', detail: 'Not a mailbox.' }];
  const problem = new Problem(400, 'invalid_message', 'Some fields are wrong.', { errors });
  expect(JSON.parse(problemBody(problem, 'r1'))).toEqual({
    type: 'urn:waybill:problem:invalid_message',
    title: 'Bad request',
    status: 400,
    detail: 'Some fields are wrong.',
    code: 'invalid_message',
    error: 'Some fields are wrong.',
    requestId: 'r1',
    errors,
  });
});

test('the short form of a long detail is cut, visibly', () => {
  const body = JSON.parse(problemBody(new Problem(409, 'x', 'y'.repeat(1000)), 'r1'));
  expect(body.detail).toHaveLength(1000);
  expect(body.error).toBe(`${'y'.repeat(159)}…`);
});
