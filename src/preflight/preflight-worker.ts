import { parentPort } from 'node:worker_threads';
import { PreviewError } from '../preview/parsed.ts';
import type { Answer, Question } from './preflighter.ts';
import { checkDraft, checkMessage } from './rules.ts';

/** Checks one message after the other for the thread that started this one; see `preflighter.ts`. */
const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');
port.on('message', (question: Question) => {
  void answerTo(question).then((answer) => port.postMessage(answer));
});

async function answerTo({ subject, way }: Question): Promise<Answer> {
  try {
    if ('draft' in subject) return { findings: checkDraft(subject.draft, way) };
    return { findings: await checkMessage(subject.bytes, way) };
  } catch (error) {
    return { fault: error instanceof PreviewError ? error.message : String(error) };
  }
}
