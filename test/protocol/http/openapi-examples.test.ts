/** The examples of the OpenAPI document: every request is taken, and answers are as they really are. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SCOPES } from '../../../src/domain/key.ts';
import { OPERATIONS } from '../../../src/ingest/http/openapi/document.ts';
import {
  BATCH,
  BATCH_RECEIPT,
  CAPTURED_RECEIPT,
  SMALL_SUBMISSION,
  VERDICT,
} from '../../../src/ingest/http/openapi/examples.ts';
import { member } from '../../support/openapi.ts';
import { signedDomain } from '../../support/signed-domain.ts';
import { linksFor } from '../../support/unsubscribe-terms.ts';
import { operationsWithoutBody, requestExamples, sendExample } from './send-example.ts';
import { World } from './world.ts';

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ scopes: SCOPES });
  world.unsubscribing = linksFor('example.com');
});
afterEach(() => world.close());

describe('an example', () => {
  test.each(requestExamples())('%s is taken', async (_, { operation, type, value }) => {
    const answer = await sendExample({ world, key }, operation, type, value);
    expect([200, 201, 202, 204], answer.text).toContain(answer.status);
  });
  test.each(operationsWithoutBody())('of %s is taken', async (_, operation) => {
    const answer = await sendExample({ world, key }, operation, null, null);
    expect([200, 202, 204], answer.text).toContain(answer.status);
  });
  test.each(
    OPERATIONS.flatMap((operation) =>
      Object.entries(operation.query)
        // A cursor is good for one list only, and made by it.
        .filter(([name]) => name !== 'cursor')
        .map(
          ([name, { example }]) => [`${operation.operationId} ${name}`, operation, name, example] as const,
        ),
    ),
  )('of the parameter %s is taken', async (_, operation, name, example) => {
    key = await world.key({ scopes: SCOPES });
    const [type, media] = Object.entries(operation.body?.content ?? {})[0] ?? [null, null];
    const value = Object.values(media?.examples ?? {})[0]?.value;
    const answer = await sendExample({ world, key }, operation, type, value, { [name]: example });
    expect([200, 201, 202, 204], answer.text).toContain(answer.status);
  });
});

describe('an example of an answer is what is really answered', () => {
  const example = (name: string) => member(['components', 'examples', name])?.value['value'];
  test('to a batch', async () => {
    world.sending = { ...world.sending, domains: [signedDomain('example.com')] };
    const answer = await world.ask({ method: 'POST', path: '/api/v1/messages/batch', key, body: BATCH });
    const { results } = answer.json;
    const [accepted, refused, checked] = Array.isArray(results) ? results : [];
    const [first, second, third] = BATCH_RECEIPT.results;
    expect({ ...accepted, id: '' }).toEqual({ ...first, id: '' });
    expect(refused).toEqual(second);
    expect({ ...checked, verdict: { ...checked.verdict, sizeBytes: 0 } }).toEqual({
      ...third,
      verdict: { ...VERDICT, sizeBytes: 0 },
    });
  });
  test('to a test key', async () => {
    const test = await world.key({ mode: 'test' });
    const answer = await world.post(test, SMALL_SUBMISSION);
    expect({ ...answer.json, id: '' }).toEqual({ ...CAPTURED_RECEIPT, id: '' });
  });
  test('to a faulty submission', async () => {
    const body = {
      ...SMALL_SUBMISSION,
      to: ['a@example.org', 'bob(at)example.org'],
      sendAt: '2099-01-01T00:00:00Z',
    };
    const answer = await world.post(key, body);
    expect(example('invalid_submission')).toMatchObject({ errors: answer.json.errors });
  });
  test('to a faulty query', async () => {
    const answer = await world.ask({ key, path: '/api/v1/messages?limit=500' });
    expect(example('invalid_query')).toMatchObject({ errors: answer.json.errors });
  });
});
