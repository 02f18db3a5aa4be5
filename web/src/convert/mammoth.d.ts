declare module 'mammoth/mammoth.browser.min.js' {
  export { default } from 'mammoth'
}
