/** Where every thread begins: the module that it is for is imported once its compiled code can be found. */
import { keepCompiledCode } from './thread.ts';

keepCompiledCode();
const [, , url = ''] = process.argv;
await import(url);
