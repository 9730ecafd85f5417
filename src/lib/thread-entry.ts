/** The entry of every thread: it imports the thread's module once compiled code can be found. */
import { keepCompiledCode } from './thread.ts';

keepCompiledCode();
const [, , url = ''] = process.argv;
await import(url);
