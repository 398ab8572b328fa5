// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A token for tests, with the misbehaviours that a contract which moves other people's tokens has to survive.
/// Anybody may mint and switch the mode; nothing of value belongs here.
contract OddToken is ERC20("Odd Token", "ODD") {
    enum Mode {
        Honest,
        KeepsFee, // the payee gets one unit less
        TakesFee, // the payer gives one unit more
        SaysFalse, // moves nothing and says so, without a revert
        LiesTrue, // moves nothing and says that it did
        CallsBack, // runs a call in the middle of a transfer
        BurnsGas // spends two million gas of whoever sends the transaction
    }

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    uint256 private constant BURNT = 2_000_000;

    address private constant COLLECTOR = address(0xfee);

    Mode public mode;
    address private _target;
    bytes private _data;
    mapping(address authorizer => mapping(bytes32 nonce => bool used)) public authorizationState;

    function version() external pure returns (string memory) {
        return "1";
    }

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    function setCallback(address target, bytes calldata data) external {
        _target = target;
        _data = data;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (mode == Mode.SaysFalse) return false;
        if (mode == Mode.LiesTrue) return true;
        super.transferFrom(from, to, value);
        if (mode == Mode.KeepsFee) _transfer(to, COLLECTOR, 1);
        if (mode == Mode.TakesFee) _transfer(from, COLLECTOR, 1);
        if (mode == Mode.CallsBack) _callBack();
        return true;
    }

    /// As ERC-3009 has it, except that no signature is looked at.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        uint8,
        bytes32,
        bytes32
    ) external {
        _authorized(from, to, value, nonce);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        bytes calldata
    ) external {
        _authorized(from, to, value, nonce);
    }

    function _authorized(address from, address to, uint256 value, bytes32 nonce) private {
        if (mode == Mode.SaysFalse || mode == Mode.LiesTrue) return;
        if (mode == Mode.BurnsGas) _burnGas();
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
        if (mode == Mode.KeepsFee) _transfer(to, COLLECTOR, 1);
    }

    function _burnGas() private view {
        uint256 left = gasleft();
        while (left - gasleft() < BURNT) {}
    }

    function _callBack() private {
        (bool success, bytes memory answer) = _target.call(_data);
        if (success) return;
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }
}
