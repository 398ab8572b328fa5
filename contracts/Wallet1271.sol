// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A contract wallet for tests: one owner key, and two ways to misbehave that a payment service has to survive.
/// Anybody may switch the mode; nothing of value belongs here.
contract Wallet1271 {
    enum Mode {
        Honest,
        BurnGas, // takes all gas that it is given
        OnlySimulated // says yes to a call that pays no fee (a simulation), no in a real block
    }

    bytes4 private constant MAGIC = 0x1626ba7e;
    bytes4 private constant REFUSED = 0xffffffff;

    address public owner;
    Mode public mode;

    constructor(address owner_) {
        owner = owner_;
    }

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (mode == Mode.BurnGas) {
            assembly {
                invalid()
            }
        }
        if (mode == Mode.OnlySimulated) return block.basefee == 0 || tx.gasprice == 0 ? MAGIC : REFUSED;
        return _signedByOwner(hash, signature) ? MAGIC : REFUSED;
    }

    function _signedByOwner(bytes32 hash, bytes calldata signature) private view returns (bool) {
        if (signature.length != 65) return false;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner;
    }
}
