// One client is written for both major versions, by the types of the newer one: what a program still has of the older one is run, not compiled.
declare module 'openai-6' {
  export { default } from 'openai';
}
