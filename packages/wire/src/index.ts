export { endOfString, mayRound, parseExactly } from "./json.js";
export { operations, type OperationFacts } from "./operations.js";
export { encodePet, encodePets, encodeNewPet, readPet, readPets } from "./pet-json.js";
