/**
 * Held by the compiler: the schemas of answers, the typed client's types, and what the endpoints write are the
 * same. Nothing here can fail at run time; `npm run typecheck` does.
 */
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as client from '../../../src/client/types.ts';
import type { problemJson } from '../../../src/http/problem.ts';
import type * as answers from '../../../src/ingest/http/answers.ts';
import type { attemptsJson } from '../../../src/ingest/http/attempts.ts';
import type { explainQuery } from '../../../src/ingest/http/explain.ts';
import type { routeExplanationSchema } from '../../../src/ingest/http/operator-answers.ts';
import type { MessageJson, StatusJson } from '../../../src/ingest/http/record.ts';
import type { submissionSchema } from '../../../src/ingest/http/submission-schema.ts';
import type { Verdict } from '../../../src/ingest/http/verdict.ts';

/** What a schema describes, read-only as the client has it. */
type Described<Name extends keyof typeof answers> = ReadOnly<z.infer<(typeof answers)[Name]>>;

type ReadOnly<T> = T extends readonly (infer Item)[]
  ? readonly ReadOnly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
    : T;

/** A value as it is once written as JSON and read again: a member that is undefined is absent. */
type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? Flat<
        { readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: Written<T[Key]> } & {
          readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Written<
            Exclude<T[Key], undefined>
          >;
        }
      >
    : T;

type Flat<T> = { [Key in keyof T]: T[Key] };

test('the schemas describe what the endpoints write', () => {
  expectTypeOf<Written<MessageJson>>().toEqualTypeOf<Described<'messageRecordSchema'>>();
  expectTypeOf<Written<StatusJson>>().toEqualTypeOf<Described<'statusRecordSchema'>>();
  expectTypeOf<Written<ReturnType<typeof attemptsJson>>>().toEqualTypeOf<Described<'attemptsPageSchema'>>();
  expectTypeOf<Written<Verdict>>().toEqualTypeOf<Described<'verdictSchema'>>();
  expectTypeOf<Written<Awaited<ReturnType<typeof explainQuery>>>>().toEqualTypeOf<
    ReadOnly<z.infer<typeof routeExplanationSchema>>
  >();
  expectTypeOf<Written<ReturnType<typeof problemJson>>>().toEqualTypeOf<Described<'itemProblemSchema'>>();
});

test('the typed client’s types are what the schemas describe', () => {
  expectTypeOf<ReadOnly<client.MessageStatus>>().toEqualTypeOf<Described<'messageStatusSchema'>>();
  expectTypeOf<ReadOnly<client.RecipientOutcome>>().toEqualTypeOf<Described<'recipientOutcomeSchema'>>();
  expectTypeOf<ReadOnly<client.Receipt>>().toEqualTypeOf<Described<'receiptSchema'>>();
  expectTypeOf<ReadOnly<client.Verdict>>().toEqualTypeOf<Described<'verdictSchema'>>();
  expectTypeOf<ReadOnly<client.BatchReceipt>>().toEqualTypeOf<Described<'batchReceiptSchema'>>();
  expectTypeOf<ReadOnly<client.MessageRecord>>().toEqualTypeOf<Described<'messageRecordSchema'>>();
  expectTypeOf<ReadOnly<client.StatusRecord>>().toEqualTypeOf<Described<'statusRecordSchema'>>();
  expectTypeOf<ReadOnly<client.MessagesPage>>().toEqualTypeOf<Described<'messagesPageSchema'>>();
  expectTypeOf<ReadOnly<client.AttemptsPage>>().toEqualTypeOf<Described<'attemptsPageSchema'>>();
  expectTypeOf<ReadOnly<client.ItemProblem>>().toEqualTypeOf<Described<'itemProblemSchema'>>();
  expectTypeOf<ReadOnly<client.Problem>>().toEqualTypeOf<Described<'problemSchema'>>();
});

test('what the typed client sends is what the schema takes', () => {
  expectTypeOf<client.Submission>().toExtend<ReadOnly<z.infer<typeof submissionSchema>>>();
  expectTypeOf<keyof client.Submission>().toEqualTypeOf<keyof z.infer<typeof submissionSchema>>();
});
